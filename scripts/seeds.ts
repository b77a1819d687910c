/**
 * Parses the two documents that define the requirements of this product (`test/seeds/*.md`) into rows, and finds the
 * tests that claim them. A row is the statement in one line: a table row, a list item or a paragraph. As a program, it
 * lists the rows without a test, and fails if there are any.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CallExpression, type Expression, parseSync, Visitor } from 'oxc-parser';

const FOLDER = path.resolve(import.meta.dirname, '../test/seeds');

/** File and title of each document, keyed by the name by which tests refer to it. */
export const SEEDS = {
  hosted: { file: 'hosted-api.md', title: 'Reader, search and models' },
  flow: { file: 'flow-gateway.md', title: 'Flow gateway' },
} as const;
export type SeedName = keyof typeof SEEDS;

export interface SeedRow {
  /** Number of the section, such as `4.3`; `0` before the first section. */
  readonly section: string;
  /** The title of the section. */
  readonly title: string;
  /** The text of the line, without the list marker. The cells of a table row are joined by ` | `. */
  readonly words: string;
}

/** How a row is covered. */
export type Claim = 'test' | 'elsewhere' | 'open';

export interface ClaimedRow {
  readonly seed: SeedName;
  readonly section: string;
  readonly words: string;
  readonly claim: Claim;
  /** The test file, relative to the root. For tests in other files, those files. */
  readonly files: readonly string[];
  /** The features beyond the row, or the decision if the row leaves something open. */
  readonly beyond: string;
}

/** All rows of a document, in order. */
export function seedRows(seed: SeedName): SeedRow[] {
  const lines = readFileSync(path.join(FOLDER, SEEDS[seed].file), 'utf8').split('\n');
  const rows: SeedRow[] = [];
  let section: { number: string; title: string } = { number: '0', title: SEEDS[seed].title };
  for (const [index, line] of lines.entries()) {
    const heading = /^#+ (\d+(?:\.\d+)?)\.? (.*)/.exec(line);
    if (heading) section = { number: heading[1]!, title: heading[2]! };
    if (line.startsWith('#') || !line.trim() || isTableHead(lines, index)) continue;
    rows.push({ section: section.number, title: section.title, words: wordsOf(line) });
  }
  return rows;
}

const isDelimiterRow = (line: string | undefined) => /^\|(?:-+\|)+$/.test(line ?? '');
const isTableHead = (lines: readonly string[], index: number) =>
  isDelimiterRow(lines[index]) || isDelimiterRow(lines[index + 1]);

const wordsOf = (line: string) =>
  line.startsWith('|')
    ? line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim())
        .join(' | ')
    : line.replace(/^(?:- |\d+\. )/, '').trim();

/** The rows that the tests in `test/seeds/` claim, parsed from their source, so that no test needs to be run. */
export function claimedRows(): ClaimedRow[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .flatMap((name) => claimsOf(path.join(FOLDER, name), `test/seeds/${name}`));
}

const METHODS: Readonly<Record<string, Claim>> = { row: 'test', elsewhere: 'elsewhere', open: 'open' };

/**
 * Finds the calls of `hosted.row(section, words, ...)` and similar functions. See `test/seeds/seed.ts` for their
 * arguments.
 */
function claimsOf(file: string, name: string): ClaimedRow[] {
  const { program, errors } = parseSync(file, readFileSync(file, 'utf8'));
  if (errors.length) throw new Error(`${name}: ${errors[0]?.message}`);
  const claims: ClaimedRow[] = [];
  const visitor = new Visitor({
    CallExpression(call) {
      const claim = claimOf(call, name);
      if (claim) claims.push(claim);
    },
  });
  visitor.visit(program);
  return claims;
}

function claimOf({ callee, arguments: given }: CallExpression, name: string): ClaimedRow | undefined {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return undefined;
  if (callee.property.type !== 'Identifier') return undefined;
  const seed = callee.object.name as SeedName;
  const claim = METHODS[callee.property.name];
  if (!(seed in SEEDS) || !claim) return undefined;
  const [section, words, third, fourth] = given as Expression[];
  if (!section || !words) return undefined;
  const files = claim === 'elsewhere' && third ? keysOf(third) : [name];
  const note = claim === 'open' ? third : fourth;
  return { seed, section: textOf(section), words: textOf(words), claim, files, beyond: note ? textOf(note) : '' };
}

/**
 * The value of a string. Strings must be literals, so that they can be read without running the test. Long ones may be
 * joined by `+`.
 */
function textOf(node: Expression): string {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral' && node.quasis.length === 1) return node.quasis[0]?.value.cooked ?? '';
  if (node.type === 'BinaryExpression' && node.operator === '+')
    return textOf(node.left as Expression) + textOf(node.right);
  throw new Error('test/seeds: section, words and notes of a row must be string literals');
}

/** The file names in `{ 'test/api/x.test.ts': ['title', ...] }`. */
function keysOf(node: Expression): string[] {
  if (node.type !== 'ObjectExpression') throw new Error('test/seeds: tests elsewhere are given by file');
  return node.properties.map((property) => {
    if (property.type !== 'Property') throw new Error('test/seeds: tests elsewhere are given by file');
    return textOf(property.key as Expression);
  });
}

const keyOf = (row: { section: string; words: string }) => `${row.section} ${row.words}`;

/** Rows that no test claims. */
export function unclaimedRows(): string[] {
  const claims = claimedRows();
  return (Object.keys(SEEDS) as SeedName[]).flatMap((seed) => {
    const keys = new Set(claims.filter((claim) => claim.seed === seed).map(keyOf));
    return seedRows(seed)
      .map(keyOf)
      .filter((key) => !keys.has(key))
      .map((key) => `${seed} ${key}`);
  });
}

/** Escapes the words of a row, which are plain text, so that they are not interpreted as Markdown. */
const cell = (text: string) => text.replace(/[|<*_`]/g, '\\$&');

/** The text of `docs/reference/conformance.md`, without its title. */
export function conformanceText(): string {
  const claims = claimedRows();
  return (Object.keys(SEEDS) as SeedName[])
    .map((seed) => {
      const own = new Map(claims.filter((claim) => claim.seed === seed).map((claim) => [keyOf(claim), claim]));
      const rows = seedRows(seed);
      const sections = [...new Set(rows.map(({ section }) => section))].map((section) => {
        const inside = rows.filter((row) => row.section === section);
        const lines = inside.map((row) => `| ${cell(row.words)} | ${claimCells(own.get(keyOf(row)))} |`);
        const title = section === '0' ? '' : `### ${section} ${inside[0]!.title}\n\n`;
        return `${title}| Row | Tested in | Beyond the row |\n| --- | --- | --- |\n${lines.join('\n')}`;
      });
      return `## ${SEEDS[seed].title}\n\n${sections.join('\n\n')}`;
    })
    .join('\n\n');
}

function claimCells(claim: ClaimedRow | undefined): string {
  if (!claim) return 'no test | ';
  const where = claim.claim === 'open' ? 'left open' : claim.files.map((file) => `\`${file}\``).join(', ');
  return `${where} | ${claim.beyond.replaceAll('|', '\\|')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = unclaimedRows();
  for (const row of rows) console.log(row);
  process.exitCode = rows.length > 0 ? 1 : 0;
}
