/** Documents through a flow. */
import { isRecord, LecternError } from './errors.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { FlowAnswer, FlowRequest } from './types.ts';

export interface FlowCalls {
  /** To an endpoint of the flow (`/index`, `/search`, or one of its own). A failed executor is a LecternError. */
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

/** An executor that failed is told in an answer of status 200. */
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
