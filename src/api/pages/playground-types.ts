/** The data that the server sends to the playground. Only types, shared by both sides. */

/** One field of a form, as plain data for JSON. */
export interface FormField {
  /** The name in a body. A field of an object option is prefixed with the name of the option and a dot. */
  readonly name: string;
  /** The header of the option; absent if it can only be sent in a body. */
  readonly header?: string;
  readonly kind: 'flag' | 'choice' | 'number' | 'text' | 'list' | 'json';
  /** The values of a choice, or suggestions for a text field. */
  readonly values?: readonly string[];
  readonly default?: string;
  readonly unit?: string;
  readonly meaning: string;
  readonly group: string;
}

/** The tabs of the playground that have options. */
export type FormName = 'read' | 'search' | 'embed' | 'rerank' | 'ocr';

/** The data that the page loads first. */
export interface PlaygroundSetup {
  readonly version: string;
  /** URLs of the APIs, without a final slash; null if this server cannot know them. */
  readonly faces: { readonly reader: string; readonly search: string | null; readonly models: string | null };
  readonly keyNeeded: { readonly reader: boolean; readonly search: boolean; readonly models: boolean };
  readonly forms: Readonly<Record<FormName, readonly FormField[]>>;
  /** The option values of each preset. */
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
