/** Who carries the turns of a room's jobs: Redis where there is one, else nobody, and they are looked for. */
import type { Kysely } from 'kysely';
import type { Log } from '#telemetry/log.ts';
import { openBullMqNotifications } from './bullmq.ts';
import type { JobNotifications } from './notifications.ts';
import { readQueueName } from './queue-name.ts';

export interface JobNotificationsOptions {
  readonly redisUrl: string | undefined;
  readonly module: string;
  /** Whether turns are taken here, or only announced. */
  readonly receives: boolean;
  readonly log: Pick<Log, 'warn'>;
}

/** Throws for an address that cannot be read. */
export function openJobNotifications(
  // biome-ignore lint/suspicious/noExplicitAny: each module has tables of its own
  db: Kysely<any>,
  { redisUrl: url, module, receives, log }: JobNotificationsOptions,
): JobNotifications | undefined {
  return url === undefined ? undefined : openBullMqNotifications({ url, name: () => readQueueName(db, module), receives, log });
}
