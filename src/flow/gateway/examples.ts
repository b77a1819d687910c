/** Examples of requests and responses in the gateway's OpenAPI document. The responses were recorded from a gateway. */
import type { RequestSchema, ResponseSchema } from './routes.ts';

const ID = '2b7e151628aed2a6abf7158809cf4f3c';
const START = '2026-11-23T15:11:43.406429+00:00';
const END = '2026-11-23T15:11:43.408120+00:00';

const route = (executor: string) => ({ executor, startTime: START, endTime: END, status: null });
const oldRoute = (pod: string) => ({
  pod,
  podId: pod,
  startTime: '2026-11-23T15:11:43.406429Z',
  endTime: '2026-11-23T15:11:43.408120Z',
});

const DOCUMENT = {
  id: 'a',
  parent_id: null,
  granularity: null,
  adjacency: null,
  blob: null,
  tensor: null,
  mime_type: null,
  text: 'hello!',
  weight: null,
  uri: null,
  tags: { topic: 'greeting' },
  offset: null,
  location: null,
  embedding: [0.5, 1],
  modality: null,
  evaluations: null,
  scores: null,
  chunks: null,
  matches: null,
};
const SENT = { id: 'a', text: 'hello', tags: { topic: 'greeting' }, embedding: [0.5, 1] };

export const REQUEST_EXAMPLES: Readonly<Record<RequestSchema, unknown>> = {
  DataRequest: { data: [SENT], parameters: { mark: '!' } },
  EndpointRequest: { execEndpoint: '/search', data: [SENT], parameters: { mark: '!' } },
  OldRequest: { data: ['hello', 'goodbye'], request_size: 1 },
  ModeRequest: { data: ['hello'], top_k: 10 },
  ReloadRequest: { targets: ['executor0'] },
};

const HEADER = { requestId: ID, status: null, execEndpoint: '/search', targetExecutor: '' };
const OLD_DOCUMENT = { id: 'a', text: 'hello!', mimeType: 'text/plain', weight: 1, contentHash: '4a5c0bd2ef8a9b10' };
const OLD_DATA = { docs: [OLD_DOCUMENT], groundtruths: [] };

export const RESPONSE_EXAMPLES: Readonly<Record<ResponseSchema, unknown>> = {
  DataResponse: {
    header: HEADER,
    parameters: { mark: '!' },
    routes: [route('gateway'), route('executor0')],
    data: [DOCUMENT],
  },
  DocumentsResponse: { requestId: ID, data: OLD_DATA },
  MessageResponse: {
    requestId: ID,
    data: OLD_DATA,
    header: { execEndpoint: '/search', targetPeapod: '', noPropagate: false },
    parameters: {},
    routes: [{ ...oldRoute('gateway'), status: null }],
    status: { code: 0, description: '', exception: null },
  },
  OldResponse: {
    requestId: '2b7e1516-28ae-d2a6-abf7-158809cf4f3c',
    search: { docs: [OLD_DOCUMENT] },
    status: {},
    routes: [oldRoute('gateway'), oldRoute('executor0'), oldRoute('gateway')],
  },
  Status: { code: 0, description: '', exception: null },
  StatusReport: { jina: { jina: '0.1.0', platform: 'Linux' }, envs: { JINA_LOG_LEVEL: '(unset)' } },
  Health: { status: 'ok' },
  Empty: {},
};

export const UNAVAILABLE_EXAMPLE = {
  header: {
    requestId: ID,
    status: {
      code: 1,
      description:
        "failed to connect to all addresses |Gateway: Communication error with deployment executor0 at address(es) {'10.0.0.7:50051'}. Head or worker(s) may be down.",
      exception: { name: "<class 'jina.excepts.InternalNetworkError'>", args: [], stacks: [], executor: '' },
    },
    execEndpoint: '',
    targetExecutor: '',
  },
  parameters: null,
  routes: null,
  data: [DOCUMENT],
};

export const INVALID_EXAMPLE = {
  detail: [{ loc: ['body', 'data'], msg: 'value is not a valid list', type: 'type_error.list' }],
};
