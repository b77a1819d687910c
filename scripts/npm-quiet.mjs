/**
 * Flags for every npm call of the set-up: fetch packages, but send no other requests to the registry. The project's
 * .npmrc has the same settings, but it does not apply in other folders.
 */
export const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier'];
