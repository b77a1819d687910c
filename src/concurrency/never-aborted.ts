import { setMaxListeners } from 'node:events';

/** The signal of work that nobody stops. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;
// Each piece of work that runs has a listener, so that the default limit, beyond which Node.js warns, does not apply.
setMaxListeners(0, NEVER_ABORTED);
