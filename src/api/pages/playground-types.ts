/** What the playground's deps sends to its page. Types alone, so that both sides can be held to them. */

/** One field of a form. Plain data: it goes to the page as JSON. */
export interface FormField {
  /** As in a body; a field of an option that is an object has the option's name and a dot in front. */
  readonly name: string;
  /** The header that carries it, as it is usually written; absent when only a body does. */
  readonly header?: string;
  readonly kind: 'flag' | 'choice' | 'number' | 'text' | 'list' | 'json';
  /** What a choice may be; for a text, words that are known. */
  readonly values?: readonly string[];
  readonly default?: string;
  readonly unit?: string;
  readonly meaning: string;
  readonly group: string;
}

/** Faces of the page that have options. */
export type FormName = 'read' | 'search' | 'embed' | 'rerank' | 'ocr';

/** What the page asks for first. */
export interface PlaygroundSetup {
  readonly version: string;
  /** Addresses without a slash at the end; null when this server cannot know it. */
  readonly faces: { readonly reader: string; readonly search: string | null; readonly models: string | null };
  readonly keyNeeded: { readonly reader: boolean; readonly search: boolean; readonly models: boolean };
  readonly forms: Readonly<Record<FormName, readonly FormField[]>>;
  /** Preset to option to what it fills in. */
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
