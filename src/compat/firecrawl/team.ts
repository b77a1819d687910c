/** The endpoints about the caller's account. Credits are tokens of this server. */
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import type { Version } from './fields.ts';
import { dataOf, isFinished } from './jobs.ts';

/** Shown for an account without a balance, because clients stop at zero. */
const UNLIMITED = 1_000_000_000;
const LISTED = 100;
/** Maximum number of unfinished jobs of a key. */
const MAX_JOBS = 10;

const balanceOf = ({ admission: { caller } }: CompatCall): number =>
  caller.kind === 'key' ? (caller.account.balance ?? UNLIMITED) : UNLIMITED;

export const showUsage = (unit: 'credit' | 'token', version: Version) => (call: CompatCall) => {
  const balance = balanceOf(call);
  const name = unit === 'credit' ? 'Credits' : 'Tokens';
  const lower = name.toLowerCase();
  const data =
    version === 'v2'
      ? { [`remaining${name}`]: balance, [`plan${name}`]: balance, billingPeriodStart: null, billingPeriodEnd: null }
      : {
          [`remaining_${lower}`]: balance,
          [`plan_${lower}`]: balance,
          billing_period_start: null,
          billing_period_end: null,
        };
  return sendJson(call.reply, { success: true, data });
};

export async function showQueue(call: CompatCall): Promise<unknown> {
  const active = (await unfinished(call)).map(({ state }) => state);
  const waiting = active.filter((state) => state === 'pending').length;
  return sendJson(call.reply, {
    success: true,
    jobsInQueue: active.length,
    activeJobsInQueue: active.length - waiting,
    waitingJobsInQueue: waiting,
    maxConcurrency: MAX_JOBS,
    mostRecentSuccess: null,
  });
}

export async function showConcurrency(call: CompatCall): Promise<unknown> {
  return sendJson(call.reply, {
    success: true,
    concurrency: (await unfinished(call)).length,
    maxConcurrency: MAX_JOBS,
  });
}

const unfinished = async (call: CompatCall) =>
  (await call.native.crawls.list(call, LISTED)).filter((job) => dataOf(job) && !isFinished(job));
