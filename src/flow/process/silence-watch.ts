/** Kills a process that sends nothing after a call was cancelled, because the call is blocking it. */
import type { Replica } from './replica.ts';

export interface SilenceWatch {
  /** Starts the watch over a process, unless one is running. */
  start(replica: Replica): void;
  /** Call when the process has sent a frame or ended. */
  stop(): void;
}

export function createSilenceWatch(silenceMs: number): SilenceWatch {
  let timer: NodeJS.Timeout | undefined;
  return {
    start(replica) {
      timer ??= setTimeout(
        () => replica.end(`it sent nothing for ${silenceMs / 1000} s after a call was cancelled`),
        silenceMs,
      ).unref();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
