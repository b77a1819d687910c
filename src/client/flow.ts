/** Sends requests to a flow. */
import { isRecord, LecternError } from './errors.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { FlowAnswer, FlowRequest } from './types.ts';

export interface FlowCalls {
  /** Posts documents to an endpoint of the flow, such as `/index`. Throws a LecternError if an executor fails. */
  post(endpoint: string, request?: FlowRequest, call?: CallOptions): Promise<FlowAnswer>;
}

export function flowCalls({ json }: Transport): FlowCalls {
  return {
    async post(endpoint, { data, parameters, targetExecutor } = {}, call) {
      const body = { execEndpoint: endpoint, data: data ?? [], parameters, targetExecutor };
      const answer = await json<FlowAnswer>({ face: 'flow', method: 'POST', path: '/post', json: body }, call);
      failWith(answer);
      return answer;
    },
  };
}

/** Throws if an executor failed, which the flow reports in a response with status 200. */
function failWith(answer: FlowAnswer): void {
  const { status, requestId } = answer.header;
  if (!isRecord(status) || !status.code) return;
  const { description, exception } = status;
  const { name, executor } = isRecord(exception) ? exception : {};
  throw new LecternError({
    message: typeof description === 'string' && description ? description : 'An executor failed',
    name: typeof name === 'string' ? name : undefined,
    code: typeof name === 'string' ? name : 'EXECUTOR_FAILED',
    path: typeof executor === 'string' ? executor : undefined,
    status: 200,
    requestId,
    body: answer,
  });
}
