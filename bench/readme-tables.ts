/** The tables of bench/README.md, which stand between two comments that name them. */
import { markdownOf, namesOf, type ReportedTable } from './report.ts';

export interface MeasuredTable extends ReportedTable {
  readonly date: string;
  readonly machine: string;
  readonly commit: string;
  readonly loadBefore: number;
  readonly loadAfter: number;
}

const PLACE = /^<!-- table ([\w.-]+) -->\n[\s\S]*?^<!-- end of table -->$/gm;

/** The names of the tables that a text has a place for. */
export const tablesIn = (text: string): string[] => [...text.matchAll(PLACE)].map(([, name]) => name!);

/** Writes each table to its place. `without` names those that have none. */
export function renewTables(
  text: string,
  tables: readonly MeasuredTable[],
): { readonly text: string; readonly without: string[] } {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const places = new Set(tablesIn(text));
  return {
    text: text.replace(PLACE, (whole, name: string) => {
      const table = byName.get(name);
      return table ? `<!-- table ${name} -->\n${contentOf(table)}\n<!-- end of table -->` : whole;
    }),
    without: [...byName.keys()].filter((name) => !places.has(name)),
  };
}

function contentOf({ date, machine, commit, loadBefore, loadAfter, baselines, heads, rows }: MeasuredTable): string {
  const facts = [
    `${date}, ${machine}, commit ${commit}`,
    `load ${loadBefore} before and ${loadAfter} after`,
    ...(baselines.length > 0 ? [`baselines: ${namesOf(baselines)}`] : []),
  ];
  return `${facts.join('; ')}.\n\n${markdownOf(heads, rows)}`;
}
