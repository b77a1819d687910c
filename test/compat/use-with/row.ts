/** What a row of the page is: a program, its setting, and a call that the tests make. */

/** Stands for the URL of the compat host. */
export const ORIGIN = 'http://HOST:3006';

// biome-ignore lint/suspicious/noExplicitAny: rows read any field of an answer
export type Any = any;

export interface Row {
  readonly program: string;
  /** What the user sets, and the value. */
  readonly setting: string;
  readonly value: string;
  /** What works. */
  readonly call: string;
}

/** A call of a published client. `test/clients/run-compat.mjs` makes it under the name of the client and the call. */
export interface ClientRow extends Row {
  readonly client: string;
  readonly check: (answer: Any, facts: Facts) => void;
}

/** A request in the exact form in which a program sends it, for programs that cannot run in a test. */
export interface RequestRow extends Row {
  readonly request: (facts: Facts) => SentRequest;
  readonly check: (answer: Any, facts: Facts) => void;
}

export interface SentRequest {
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** The path that the program adds to the value of its setting, and its parameters. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  /** Whether the answer is not JSON. */
  readonly isText?: boolean;
}

/** A client that another test runs. */
export interface TestedRow extends Row {
  /** The test, from the root of the project. */
  readonly test: string;
}

/** What the server of the test knows and finds. */
export interface Facts {
  readonly key: string;
  /** A page that can be read. Its text contains `PAGE_TEXT`, and it is the only search result. */
  readonly page: string;
}

export const PAGE_TEXT = 'Bees find their way home by the sun.';

export const JSON_TYPE = { 'content-type': 'application/json' };
export const bearer = ({ key }: Facts) => ({ authorization: `Bearer ${key}`, ...JSON_TYPE });
