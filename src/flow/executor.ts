/**
 * What the author of an executor sees (contract, section 10): a class whose methods are bound to endpoints, by a table
 * or by decorators.
 *
 *     class Upper extends Executor {
 *       static override readonly requests = requests<Upper>({ '/index': 'upper' });
 *       upper({ docs }: Call) {
 *         for (const doc of docs) doc.text = doc.text.toUpperCase();
 *       }
 *     }
 */
import { setKey } from '#own.ts';
import type { Log } from '#telemetry/log.ts';
import type { Document } from './document.ts';
import type { JsonObject } from './values.ts';

/** Bound by the method that takes every endpoint without one of its own. */
export const CATCH_ALL = '/default';
/** Bound by every executor to nothing: an empty request to it shows that the whole flow answers. */
export const DRY_RUN = '_jina_dry_run_';

export interface Call {
  /** All documents of the request, of a join without reduction those of all parts one after another. */
  readonly docs: Document[];
  /** Those of the request that are meant for this executor. */
  readonly parameters: JsonObject;
  /** A list of documents for each part that came in; undefined when all are empty. */
  readonly docsMatrix: readonly Document[][] | undefined;
  /** The same lists by the name of the last executor of each part. */
  readonly docsMap: Readonly<Record<string, Document[]>> | undefined;
  /** The endpoint that was asked for, which a catch-all needs to know. */
  readonly endpoint: string;
  readonly requestId: string;
  /** HTTP headers that the flow's option `headers` lets through, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Nothing: the documents go on as they are now. A list takes their place. An object goes to `__results__`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler may simply not return.
export type Answer = void | null | readonly Document[] | Record<string, unknown>;
export type Handler = (call: Call) => Answer | Promise<Answer>;

export interface ExecutorContext {
  /** `NAME/rep-0`, with shards `NAME/shard-1/rep-0`. */
  readonly name: string;
  readonly deployment: string;
  /** -1 without shards. */
  readonly shardId: number;
  readonly shards: number;
  readonly replicas: number;
  readonly replica: number;
  readonly metas: Readonly<Record<string, unknown>>;
  /** A folder of this executor's own, made when it is first asked for. Throws when the flow has no workspace. */
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log | undefined;
}

export interface ExecutorSetup<Options = Record<string, unknown>> {
  /** `with` of the configuration. */
  readonly options: Options;
  readonly context: ExecutorContext;
}

/** Endpoint to method name. */
export type Bindings = Readonly<Record<string, string>>;

// biome-ignore lint/suspicious/noExplicitAny: what an executor's options are is known to its class alone.
export type ExecutorClass = (new (setup: ExecutorSetup<any>) => Executor<any>) & { readonly requests?: Bindings };

type HandlerName<E> = { [K in keyof E]: E[K] extends (call: Call) => unknown ? K : never }[keyof E] & string;

/** The binding table of the executor class E, its method names checked. */
export const requests = <E>(table: Readonly<Record<string, HandlerName<E>>>): Bindings => table;

const decorated = new WeakMap<object, Record<string, string>>();

/** A standard method decorator, for who compiles them: binds the method to the endpoints, without any to all others. */
export const on =
  (...endpoints: string[]) =>
  <This extends object>(
    _method: (this: This, call: Call) => unknown,
    context: ClassMethodDecoratorContext<This, (this: This, call: Call) => Answer | Promise<Answer>>,
  ): void => {
    context.addInitializer(function (this: This) {
      const bound = decorated.get(this) ?? {};
      for (const endpoint of endpoints.length ? endpoints : [CATCH_ALL]) setKey(bound, endpoint, String(context.name));
      decorated.set(this, bound);
    });
  };

export class Executor<Options = Record<string, unknown>> {
  /** Endpoint to method name; classes that extend this one inherit and override entries. */
  static readonly requests: Bindings = {};

  readonly options: Options;
  readonly context: ExecutorContext;

  constructor({ options, context }: ExecutorSetup<Options>) {
    this.options = options;
    this.context = context;
  }

  /** What takes time before the first request; the flow is ready when it is done. */
  start(): void | Promise<void> {}

  /** Called once at the end. */
  close(): void | Promise<void> {}
}

const noHandler: Handler = () => {};

/**
 * The handlers of an executor by endpoint: its classes' tables from the base up, its decorators, then `overrides`. A
 * TypeError names a method that does not exist.
 */
export function bindingsOf(executor: Executor, overrides: Bindings = {}): ReadonlyMap<string, Handler> {
  const tables: Bindings[] = [];
  for (let type = executor.constructor as { requests?: Bindings } | null; type && type !== Executor; ) {
    if (Object.hasOwn(type, 'requests') && type.requests) tables.unshift(type.requests);
    type = Object.getPrototypeOf(type);
  }
  const bound = new Map<string, Handler>();
  for (const table of [...tables, decorated.get(executor) ?? {}, overrides]) {
    for (const [endpoint, method] of Object.entries(table)) {
      const handler = (executor as unknown as Record<string, unknown>)[method];
      if (typeof handler !== 'function') {
        throw new TypeError(`${executor.constructor.name} has no method ${method} to bind ${endpoint} to`);
      }
      bound.set(endpoint, (call) => handler.call(executor, call));
    }
  }
  bound.set(DRY_RUN, noHandler);
  return bound;
}
