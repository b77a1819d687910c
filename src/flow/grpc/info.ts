/** The method JinaInfoRPC/_status: versions and environment, from a fixed list of names. */
import { createStatusReport, type StatusReportInput } from '../gateway/status-report.ts';
import { infoProto } from '../proto/codec.ts';
import type { Method } from './method.ts';
import { METHODS } from './names.ts';

export const infoMethod = (facts: StatusReportInput): Method => ({
  ...METHODS.info,
  kind: 'unary',
  run() {
    const { jina, envs } = createStatusReport(facts);
    return { bytes: infoProto.encode({ jina: new Map(Object.entries(jina)), envs: new Map(Object.entries(envs)) }) };
  },
});
