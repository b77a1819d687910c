/** Warns where exported programs behave differently from one program with the whole flow. */
import type { FlowDefinition } from '../definition/definition.ts';
import { collectionOf, keepsData } from './data.ts';

/** One sentence each. */
export function exportWarnings({ deployments, gateway }: FlowDefinition): string[] {
  const exported = deployments.filter(({ external }) => !external);
  const users = new Map<string, string[]>();
  for (const { name, source } of exported) {
    const collection = collectionOf(source);
    if (collection !== undefined) users.set(collection, [...(users.get(collection) ?? []), name]);
  }
  const shared = [...users].filter(([, names]) => names.length > 1);
  const replicated = exported.filter((one) => one.replicas > 1 && keepsData(one));
  return [
    ...shared.map(
      ([collection, names]) =>
        `${names.join(' and ')} use the collection ${collection}, but run in containers that share no data: set LECTERN_DATABASE_URL in each, or run them with \`lectern flow\` in one program, and list it as an external executor`,
    ),
    ...replicated.map(
      ({ name }) =>
        `the replicas of ${name} have a volume each and share no data, unless their collections are in PostgreSQL (LECTERN_DATABASE_URL)`,
    ),
    ...(gateway.reload || exported.some(({ reload }) => reload)
      ? ['reload has no effect in containers: apply the manifests again']
      : []),
  ];
}
