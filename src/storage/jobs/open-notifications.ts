/** Who carries the turns of a room's jobs: Redis where there is one, else nobody, and they are looked for. */
import type { Kysely } from 'kysely';
import type { Log } from '#telemetry/log.ts';
import { openBullMqNotifications } from './bullmq.ts';
import type { JobNotifications } from './notifications.ts';
import { queueName } from './queue-name.ts';

export interface NotificationsPlace {
  readonly redisUrl: string | undefined;
  readonly room: string;
  /** Whether turns are taken here, or only announced. */
  readonly takes: boolean;
  readonly log: Pick<Log, 'warn'>;
}

/** Throws for an address that cannot be read. */
export function openJobNotifications(
  // biome-ignore lint/suspicious/noExplicitAny: each module has tables of its own
  db: Kysely<any>,
  { redisUrl: url, room, takes, log }: NotificationsPlace,
): JobNotifications | undefined {
  return url === undefined ? undefined : openBullMqNotifications({ url, name: () => queueName(db, room), takes, log });
}
