/** Opens the notifications for a module's jobs, which use Redis. Without Redis there are none, and workers poll. */
import type { Kysely } from 'kysely';
import type { Log } from '#telemetry/log.ts';
import { openBullMqNotifications } from './bullmq.ts';
import type { JobNotifications } from './notifications.ts';
import { readQueueName } from './queue-name.ts';

export interface JobNotificationsOptions {
  readonly redisUrl: string | undefined;
  readonly module: string;
  /** Whether this process receives notifications, or only announces jobs. */
  readonly receives: boolean;
  readonly log: Pick<Log, 'warn'>;
}

/** Returns `undefined` without `redisUrl`. Throws if the URL is invalid. */
export function openJobNotifications(
  // biome-ignore lint/suspicious/noExplicitAny: each module has its own tables
  db: Kysely<any>,
  { redisUrl: url, module, receives, log }: JobNotificationsOptions,
): JobNotifications | undefined {
  return url === undefined
    ? undefined
    : openBullMqNotifications({ url, name: () => readQueueName(db, module), receives, log });
}
