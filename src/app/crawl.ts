/** Creates the module of crawls, with its reader and its billing. */
import type { AccountsModule } from '#accounts/index.ts';
import type { Config } from '#config.ts';
import { type Billing, type ChargedRead, type CrawlModule, openCrawl } from '#crawl/index.ts';
import { problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { defaultUserAgent, type Reader } from '#reader/index.ts';
import type { OnJobRun } from '#storage/jobs/workers.ts';
import type { Log } from '#telemetry/log.ts';

export interface CrawlParts {
  readonly accounts: Pick<AccountsModule, 'accounts' | 'usage'>;
  readonly reader: Reader;
  readonly robots: Robots;
  readonly fetch: GuardedFetch;
  readonly onRun?: OnJobRun | undefined;
  readonly log: Log;
}

const DAY_MS = 86_400_000;

export function createCrawl(
  config: Config,
  { accounts, reader, robots, fetch, onRun, log }: CrawlParts,
): Promise<CrawlModule> {
  return openCrawl({
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    redisUrl: config.redisUrl,
    reader,
    robots,
    fetch,
    userAgent: config.userAgent ?? defaultUserAgent(),
    billing: createBilling(accounts),
    limits: { maxPages: config.crawlMaxPages, hostPages: config.crawlHostPages, delayMs: config.crawlDelayMs },
    jobs: config.crawlJobs,
    onRun,
    maxPagesAtOnce: config.crawlPages,
    keepMs: config.crawlKeepDays * DAY_MS,
    log,
  });
}

type Hold = NonNullable<Awaited<ReturnType<AccountsModule['usage']['hold']>>>;

interface Reservation {
  readonly hold: Hold | undefined;
}

/** Tokens reserved per page, because the cost is known only after the read. Enough for most pages. */
const EXPECTED_TOKENS = 20_000;

/**
 * Charges each page as a read by the key that started the crawl. Rejects once the key is invalid or its balance is
 * exhausted.
 */
function createBilling({ accounts, usage }: CrawlParts['accounts']): Billing {
  const chargeOf = ({ id, owner, account, at, ms, model, tokens, status }: ChargedRead, reservation: unknown) => ({
    ...{ id, at, accountId: account, keyId: owner, face: 'reader', endpoint: 'reader' },
    ...{ model, tokens, status, durationMs: ms, hold: (reservation as Reservation | undefined)?.hold },
  });
  return {
    async reserve({ owner, account: accountId }): Promise<Reservation> {
      const key = await accounts.key(owner);
      const isOver = !key || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= Date.now());
      if (isOver) {
        throw problem('AuthenticationFailedError', { message: 'The API key of this crawl is no longer valid' });
      }
      const account = await accounts.account(accountId);
      if (!account || account.balance === null) return { hold: undefined };
      const hold = await usage.hold(accountId, { wanted: EXPECTED_TOKENS, least: 1 });
      if (!hold) throw problem('InsufficientBalanceError');
      return { hold };
    },
    note: (read, reservation) => usage.charge(chargeOf(read, reservation)),
    async charge(reads) {
      for (const { reservation, ...read } of reads) usage.charge(chargeOf(read, reservation));
      await usage.flush();
    },
  };
}
