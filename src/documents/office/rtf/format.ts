/** Formatting that applies at a position in an RTF file. */

export interface CharacterFormat {
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly strike?: boolean;
  readonly hidden?: boolean;
  readonly deleted?: boolean;
  readonly raised?: 'sup' | 'sub' | undefined;
  readonly font?: number | undefined;
  readonly color?: number;
  readonly grounded?: boolean;
}

export interface ParagraphFormat {
  readonly style?: number;
  readonly outlineLevel?: number;
  readonly list?: number;
  readonly level?: number;
  /** In twentieths of a point. */
  readonly indent?: number;
  readonly inTable?: boolean;
  /** Nesting depth of tables. */
  readonly depth?: number;
  readonly shaded?: boolean;
  readonly breaksBefore?: boolean;
  /** Numbering of the older kind (RTF before Word 97). */
  readonly simple?: 'bullet' | 'number' | undefined;
}

/** Receives content that is not document text. */
export interface Sink {
  text?(text: string): void;
  control?(word: string, parameter: number | undefined): void;
}
