/** The service grpc.health.v1.Health. */
import { problem } from '#errors.ts';
import { decodeWith } from '../proto/request.ts';
import { BYTES, createWriter, type FieldReaders, readFields, tagOf, VARINT } from '../proto/wire.ts';
import type { Method, ResponseStream } from './method.ts';
import { METHODS } from './names.ts';

const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

export interface Health {
  readonly methods: readonly Method[];
  /** Reports NOT_SERVING from now on and ends all watches. */
  stop(): void;
}

const REQUEST: FieldReaders<{ service: string }> = {
  [tagOf(1, BYTES)]: (reader, request) => {
    request.service = reader.string();
  },
};

const decodeServiceName = (bytes: Buffer): string =>
  decodeWith(bytes, 'HealthCheckRequest', (reader) => {
    const request = { service: '' };
    readFields(reader, reader.len, request, REQUEST, 0);
    return request.service;
  });

const encodeStatus = (status: number): Buffer =>
  Buffer.from(createWriter().uint32(tagOf(1, VARINT)).int32(status).finish());

/** `services` are service names. The empty name represents the whole server. */
export function createHealth(services: readonly string[]): Health {
  const known = new Set(['', ...services]);
  const watchers = new Set<ResponseStream>();
  let isStopped = false;

  const statusOf = (service: string): number =>
    known.has(service) ? (isStopped ? NOT_SERVING : SERVING) : SERVICE_UNKNOWN;

  return {
    methods: [
      {
        ...METHODS.check,
        kind: 'unary',
        isPublic: true,
        run(bytes) {
          const service = decodeServiceName(bytes);
          if (!known.has(service)) {
            throw problem('ResourceNotFoundError', { message: `There is no service ${service}` });
          }
          return { bytes: encodeStatus(statusOf(service)) };
        },
      },
      {
        ...METHODS.watch,
        kind: 'server-stream',
        isPublic: true,
        run(bytes, stream) {
          const service = decodeServiceName(bytes);
          stream.write(encodeStatus(statusOf(service)));
          if (isStopped) {
            stream.end();
            return;
          }
          watchers.add(stream);
          stream.on('close', () => watchers.delete(stream));
        },
      },
    ],
    stop() {
      isStopped = true;
      for (const stream of watchers) {
        stream.write(encodeStatus(NOT_SERVING));
        stream.end();
      }
      watchers.clear();
    },
  };
}
