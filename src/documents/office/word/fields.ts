/** Word fields: instructions between markers, followed by their result. */
import { safeHref } from '../inline.ts';

interface Field {
  instruction: string;
  showsResult: boolean;
  href: string | undefined;
}

const LONGEST_INSTRUCTION = 10_000;
const DEEPEST = 64;

/** The URL of a HYPERLINK instruction; `undefined` for a target inside the document. */
export function hrefOfField(instruction: string): string | undefined {
  const found = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]\S*))/i.exec(instruction);
  return found ? safeHref((found[1] ?? found[2] ?? '').replaceAll('\\\\', '\\')) : undefined;
}

export class Fields {
  readonly #open: Field[] = [];
  /** Number of open fields beyond the nesting limit, which are not interpreted. */
  #beyond = 0;

  begin(): void {
    if (this.#open.length >= DEEPEST) this.#beyond += 1;
    else this.#open.push({ instruction: '', showsResult: false, href: undefined });
  }

  instruction(text: string): void {
    const field = this.#open.at(-1);
    if (field && !field.showsResult && field.instruction.length < LONGEST_INSTRUCTION) field.instruction += text;
  }

  separate(): void {
    const field = this.#open.at(-1);
    if (!field || this.#beyond > 0) return;
    field.showsResult = true;
    field.href = hrefOfField(field.instruction);
  }

  end(): void {
    if (this.#beyond > 0) this.#beyond -= 1;
    else this.#open.pop();
  }

  /** Whether the current text is shown: false inside an instruction. */
  get shows(): boolean {
    return this.#beyond === 0 && this.#open.every(({ showsResult }) => showsResult);
  }

  get href(): string | undefined {
    return this.#open.findLast(({ href }) => href !== undefined)?.href;
  }
}
