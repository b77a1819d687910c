/** Errors in Tavily's format: clients print `detail.error`. */
import type { ErrorWriter } from '#http/server.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';

const STATUSES: StatusTable = {
  InsufficientBalanceError: 432,
  TierFeatureConstraintError: 403,
  SecurityCompromiseError: 400,
  HarmfulContentError: 403,
};

export const writeTavilyError: ErrorWriter = (failure, _, reply) =>
  sendJson(reply.code(statusOf(failure, STATUSES)), { detail: { error: failure.message } });
