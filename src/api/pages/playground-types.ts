/** The data that the server sends to the playground. This file contains only types, which both sides import. */

/** One form field, as plain data that can be sent as JSON. */
export interface FormField {
  /** The name in a request body. A field of an object option is prefixed with the name of the option and a dot. */
  readonly name: string;
  /** The header of the option; missing if the option can only be sent in a body. */
  readonly header?: string;
  readonly kind: 'flag' | 'choice' | 'number' | 'text' | 'list' | 'json';
  /** The values to choose from, or suggestions for a text field. */
  readonly values?: readonly string[];
  readonly default?: string;
  readonly unit?: string;
  readonly meaning: string;
  readonly group: string;
}

/** The tabs of the playground that have options. */
export type FormName = 'read' | 'crawl' | 'search' | 'embed' | 'rerank' | 'ocr' | 'batch' | 'flow';

/** An API in the list of the page at /docs/api. */
export interface DescribedApi {
  readonly name: string;
  readonly title: string;
  /** URL of its OpenAPI document. */
  readonly url: string;
}

/** The URLs of the APIs, without a trailing slash; null if this server cannot determine them. */
export interface ApiUrls {
  readonly reader: string;
  readonly search: string | null;
  readonly models: string | null;
  readonly compat: string | null;
  readonly flow: string | null;
}

/** The data that the page loads first. */
export interface PlaygroundSetup {
  readonly version: string;
  readonly faces: ApiUrls;
  readonly keyNeeded: {
    readonly reader: boolean;
    readonly crawl: boolean;
    readonly search: boolean;
    readonly models: boolean;
    readonly flow: boolean;
  };
  readonly forms: Readonly<Record<FormName, readonly FormField[]>>;
  /** The option values of each preset. */
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
