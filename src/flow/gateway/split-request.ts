/** Sends a request through the flow in parts of `request_size` documents and merges the results. */
import type { Flow, HandleOptions } from '../flow.ts';
import { type DataRequest, failed, type Route } from '../request.ts';

/** Throws like `Flow.handle`; the responses to earlier parts are then discarded. */
export async function handleInParts(
  flow: Flow,
  request: DataRequest,
  partSize: number | undefined,
  options: HandleOptions,
): Promise<DataRequest> {
  if (!partSize || request.docs.length <= partSize) return flow.handle(request, options);
  const answers: DataRequest[] = [];
  for (let at = 0; at < request.docs.length; at += partSize) {
    options.signal?.throwIfAborted();
    const docs = request.docs.slice(at, at + partSize);
    answers.push(await flow.handle({ ...request, header: { ...request.header }, routes: [], docs }, options));
  }
  return mergeAnswers(answers);
}

/** Merges the results: documents in order, each route from its first start to its last end, and the first failure. */
function mergeAnswers(answers: readonly DataRequest[]): DataRequest {
  const routes = new Map<string, Route>();
  for (const answer of answers) {
    for (const route of answer.routes) {
      const known = routes.get(route.executor);
      if (known) {
        known.endTime = route.endTime ?? known.endTime;
        known.status ??= route.status;
      } else routes.set(route.executor, { ...route });
    }
  }
  const last = answers.at(-1)!;
  const status = answers.find(failed)?.header.status;
  return {
    ...last,
    header: { ...last.header, ...(status && { status }) },
    routes: [...routes.values()],
    docs: answers.flatMap(({ docs }) => docs),
  };
}
