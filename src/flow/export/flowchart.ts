/** Draws the graph of a flow as a Mermaid flowchart. */
import { type DeploymentDefinition, type FlowDefinition, START } from '../definition/definition.ts';

const quoteLabel = (text: string): string => `"${text.replaceAll('"', '#quot;').replaceAll('\n', ' ')}"`;

function label({ name, source, replicas, shards, external }: DeploymentDefinition): string {
  const uses = typeof source.uses === 'string' ? source.uses : source.uses.name;
  const where = external?.map(({ host, port }) => `${host}:${port}`).join(', ');
  const size = [replicas > 1 && !external ? `${replicas} replicas` : '', shards > 1 ? `${shards} shards` : ''];
  return [name, where ?? uses, ...size].filter(Boolean).join('<br/>');
}

export function flowchart({ deployments }: FlowDefinition): string {
  const ids = new Map(deployments.map(({ name }, at) => [name, `e${at}`]));
  const lines = ['flowchart LR', '  start([gateway])'];
  for (const one of deployments) {
    const [open, close] = one.external ? ['[[', ']]'] : ['[', ']'];
    lines.push(`  ${ids.get(one.name)}${open}${quoteLabel(label(one))}${close}`);
  }
  for (const { name, needs, when, floating } of deployments) {
    for (const need of needs) {
      const from = need === START ? 'start' : ids.get(need);
      const arrow = floating ? '-.->' : '-->';
      lines.push(`  ${from} ${arrow}${when ? `|${quoteLabel(JSON.stringify(when))}|` : ''} ${ids.get(name)}`);
    }
  }
  const last = deployments.findLast(({ floating }) => !floating);
  lines.push(`  ${last ? ids.get(last.name) : 'start'} --> finish([gateway])`);
  return `${lines.join('\n')}\n`;
}
