/**
 * The API for authors of executors: a class whose methods are bound to endpoints, by a table or by decorators
 * (docs/reference/wire/flow.md, Executors).
 *
 *     class Upper extends Executor {
 *       static override readonly requests = requests<Upper>({ '/index': 'upper' });
 *       upper({ docs }: Call) {
 *         for (const doc of docs) doc.text = doc.text.toUpperCase();
 *       }
 *     }
 */
import { setOwnValue } from '#own-value.ts';
import type { Log } from '#telemetry/log.ts';
import type { Document } from './document.ts';
import type { JsonObject } from './values.ts';

/** The endpoint whose handler receives all requests to endpoints without a handler. */
export const CATCH_ALL = '/default';
/** A no-op endpoint that every executor serves. An empty request to it checks that the whole flow responds. */
export const DRY_RUN = '_jina_dry_run_';

export interface Call {
  /** All documents of the request. For a join without reduction, the documents of all parts in order. */
  readonly docs: Document[];
  /** The parameters that apply to this executor. */
  readonly parameters: JsonObject;
  /** One list of documents for each incoming part; `undefined` if all are empty. */
  readonly docsMatrix: readonly Document[][] | undefined;
  /** The same lists, keyed by the name of each part's last executor. */
  readonly docsMap: Readonly<Record<string, Document[]>> | undefined;
  /** The requested endpoint. A catch-all handler needs it to tell requests apart. */
  readonly endpoint: string;
  readonly requestId: string;
  /** HTTP headers listed in the flow's `headers` option, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the result is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * The return value of a handler. Nothing: the documents are kept. A list: it replaces them. An object: it is added to
 * `__results__`.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler may simply not return.
export type Answer = void | null | readonly Document[] | Record<string, unknown>;
export type Handler = (call: Call) => Answer | Promise<Answer>;

export interface ExecutorContext {
  /** `NAME/rep-0`, or `NAME/shard-1/rep-0` with shards. */
  readonly name: string;
  readonly deployment: string;
  /** -1 without shards. */
  readonly shardId: number;
  readonly shards: number;
  readonly replicas: number;
  readonly replica: number;
  readonly metas: Readonly<Record<string, unknown>>;
  /** This executor's folder, created on first access. Throws when the flow has no workspace. */
  readonly workspace: string;
  /**
   * Stores the files of a workspace that is in a bucket (`workspace: s3://…`) there. They are also stored when the executor
   * closes. Do not write to the folder meanwhile. In a local workspace, files need no saving. Throws an Error if the
   * bucket does not answer, or if another executor has opened the workspace since.
   */
  saveWorkspace(): Promise<void>;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log | undefined;
}

export interface ExecutorSetup<Options = Record<string, unknown>> {
  /** The `with` option of the configuration. */
  readonly options: Options;
  readonly context: ExecutorContext;
}

/** Maps endpoints to method names. */
export type Bindings = Readonly<Record<string, string>>;

// biome-ignore lint/suspicious/noExplicitAny: only the executor's class knows the type of its options.
export type ExecutorClass = (new (setup: ExecutorSetup<any>) => Executor<any>) & { readonly requests?: Bindings };

type HandlerName<E> = { [K in keyof E]: E[K] extends (call: Call) => unknown ? K : never }[keyof E] & string;

/** The binding table of the executor class E, with checked method names. */
export const requests = <E>(table: Readonly<Record<string, HandlerName<E>>>): Bindings => table;

const decoratorBindings = new WeakMap<object, Record<string, string>>();

/** Decorator (TC39 standard) that binds a method to the endpoints, or to all unbound endpoints if none is specified. */
export const on =
  (...endpoints: string[]) =>
  <This extends object>(
    _method: (this: This, call: Call) => unknown,
    context: ClassMethodDecoratorContext<This, (this: This, call: Call) => Answer | Promise<Answer>>,
  ): void => {
    context.addInitializer(function (this: This) {
      const bound = decoratorBindings.get(this) ?? {};
      for (const endpoint of endpoints.length ? endpoints : [CATCH_ALL])
        setOwnValue(bound, endpoint, String(context.name));
      decoratorBindings.set(this, bound);
    });
  };

export class Executor<Options = Record<string, unknown>> {
  /** Maps endpoints to method names. Subclasses inherit the entries and can override them. */
  static readonly requests: Bindings = {};

  readonly options: Options;
  readonly context: ExecutorContext;

  constructor({ options, context }: ExecutorSetup<Options>) {
    this.options = options;
    this.context = context;
  }

  /** Prepares the executor. The flow is ready once all executors have started. */
  start(): void | Promise<void> {}

  /** Called once, when the flow closes. */
  close(): void | Promise<void> {}
}

const doNothing: Handler = () => {};

/**
 * Maps endpoints to handlers. Later tables win: base classes first, then subclasses, decorators and `overrides`. Throws
 * a TypeError for a method that does not exist.
 */
export function bindHandlers(executor: Executor, overrides: Bindings = {}): ReadonlyMap<string, Handler> {
  const tables: Bindings[] = [];
  for (let type = executor.constructor as { requests?: Bindings } | null; type && type !== Executor; ) {
    if (Object.hasOwn(type, 'requests') && type.requests) tables.unshift(type.requests);
    type = Object.getPrototypeOf(type);
  }
  const bound = new Map<string, Handler>();
  for (const table of [...tables, decoratorBindings.get(executor) ?? {}, overrides]) {
    for (const [endpoint, method] of Object.entries(table)) {
      const handler = (executor as unknown as Record<string, unknown>)[method];
      if (typeof handler !== 'function') {
        throw new TypeError(`${executor.constructor.name} has no method ${method} to bind ${endpoint} to`);
      }
      bound.set(endpoint, (call) => handler.call(executor, call));
    }
  }
  bound.set(DRY_RUN, doNothing);
  return bound;
}
