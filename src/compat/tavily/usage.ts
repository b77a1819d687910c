/** Tavily's `/usage`: what the key and its account have used. One credit is one token. */
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';

export async function usage({ admission: { caller }, native, reply }: CompatCall): Promise<unknown> {
  if (caller.kind !== 'key') return sendJson(reply, usageBody({ plan: null, limit: null, ofKey: 0, ofAccount: 0 }));
  const { key, account } = caller;
  const [ofKey, ofAccount] = await Promise.all([
    native.tokensUsed({ keyId: key.id }),
    native.tokensUsed({ accountId: account.id }),
  ]);
  const limit = account.balance === null ? null : account.balance + ofAccount;
  return sendJson(reply, usageBody({ plan: account.plan, limit, ofKey, ofAccount }));
}

interface Used {
  readonly plan: string | null;
  readonly limit: number | null;
  readonly ofKey: number;
  readonly ofAccount: number;
}

const usageBody = ({ plan, limit, ofKey, ofAccount }: Used) => ({
  key: { usage: ofKey, limit: null },
  account: { current_plan: plan, plan_usage: ofAccount, plan_limit: limit, paygo_usage: 0, paygo_limit: null },
});
