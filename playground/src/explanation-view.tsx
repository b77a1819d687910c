/** Explains an extraction: removed elements by rule, and the source element of each Markdown block. */

import { type Fields, isRecord } from './fields.ts';
import { Scrollable } from './scrollable.tsx';

interface ExplanationProps {
  readonly explanation: Fields | undefined;
  /** Sends the request again with an explanation; `undefined` if none is available. */
  readonly ask: (() => void) | undefined;
}

export function ExplanationView({ explanation, ask }: ExplanationProps) {
  if (!explanation) {
    return (
      <div class="invitation">
        <p>
          Why is something missing? The reader can list the removed elements, the rule that removed each, and the source
          of each block.
        </p>
        {ask && (
          <button type="button" class="primary" onClick={ask}>
            Explain this answer
          </button>
        )}
      </div>
    );
  }
  const removed = listOf(explanation.removed);
  const blocks = listOf(explanation.blocks);
  const rules = byRule(removed);
  return (
    <div class="explanation">
      <dl class="facts-list">
        <Fact name="Kind of page" value={withShare(explanation.kind, explanation.kindConfidence)} />
        <Fact name="Content source" value={withShare(explanation.source, explanation.confidence)} />
        <Fact name="Removed" value={`${explanation.removedCount ?? removed.length}`} />
        <Fact name="Blocks" value={`${explanation.blockCount ?? blocks.length}`} />
        <Fact name="Extraction" value={String(explanation.version ?? '')} />
      </dl>
      <h3>Removed</h3>
      {[...rules].map(([rule, items]) => (
        <details key={rule} class="rule">
          <summary>
            {rule} <span class="count">{items.length}</span>
          </summary>
          <ul>
            {items.map((item, index) => (
              <li key={index}>
                <span class="words">{String(item.text ?? '') || <em>no text</em>}</span>
                <code>{String(item.selector ?? '')}</code>
                <span class="count">
                  {String(item.words ?? 0)} words
                  {typeof item.probability === 'number' && `, content with probability ${item.probability}`}
                </span>
              </li>
            ))}
          </ul>
        </details>
      ))}
      {removed.length === 0 && <p>Nothing was removed.</p>}
      <h3>Blocks and their sources</h3>
      <Scrollable class="scroll" label="Blocks and their sources">
        <table class="blocks">
          <thead>
            <tr>
              <th scope="col">Line</th>
              <th scope="col">Text</th>
              <th scope="col">Element</th>
            </tr>
          </thead>
          <tbody>
            {blocks.slice(0, 300).map((block) => (
              <tr key={`${block.line}${block.selector}`}>
                <td>{String(block.line)}</td>
                <td>{String(block.text)}</td>
                <td>
                  <code>{String(block.selector)}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
    </div>
  );
}

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
function byRule(removed: readonly Fields[]): Map<string, Fields[]> {
  const groups = new Map<string, Fields[]>();
  for (const item of removed) {
    const rule = `${item.step}: ${item.rule}`;
    const group = groups.get(rule);
    if (group) group.push(item);
    else groups.set(rule, [item]);
  }
  return groups;
}

const withShare = (value: unknown, share: unknown): string =>
  value === undefined ? '' : `${value}${typeof share === 'number' ? `, ${Math.round(share * 100)} % confidence` : ''}`;

function Fact({ name, value }: { name: string; value: string }) {
  return value ? (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ) : null;
}
