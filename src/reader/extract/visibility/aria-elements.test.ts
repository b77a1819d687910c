/** Elements get the names that their roles stand for. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { innerHtml } from '#html/serialize.ts';
import { markdownOf } from '../../markdown/convert.suite.ts';
import { applyRoles } from './aria-elements.ts';

function named(html: string): string {
  const document = parseDocument(`<!doctype html><body>${html}`);
  applyRoles(document);
  return innerHtml(find(document, 'body')!).replace(/ (?:role|aria-level)="[^"]*"/g, '');
}

describe('a heading', () => {
  test.each([
    ['with a level', '<div role="heading" aria-level="3">Kilns</div>', '<h3>Kilns</h3>'],
    ['without a level', '<span role="heading">Kilns</span>', '<h2>Kilns</h2>'],
    ['deeper than HTML has names', '<p role="heading" aria-level="9">Kilns</p>', '<h6>Kilns</h6>'],
    ['with other roles for older browsers', '<div role="Heading group" aria-level="1">Kilns</div>', '<h1>Kilns</h1>'],
    ['with a level that is no number', '<div role="heading" aria-level="x">Kilns</div>', '<h2>Kilns</h2>'],
  ])('%s', (_, html, expected) => expect(named(html)).toBe(expected));

  test('keeps its name if it is around another heading, or has a meaning of its own', () => {
    expect(named('<div role="heading"><h2>Kilns</h2></div>')).toBe('<div><h2>Kilns</h2></div>');
    expect(named('<button role="heading">Kilns</button>')).toBe('<button>Kilns</button>');
  });
});

describe('a table', () => {
  const row = (...cells: string[]) =>
    `<div role="row">${cells.map((text) => `<span role="cell">${text}</span>`).join('')}</div>`;
  const head = '<div role="row"><span role="columnheader">Kiln</span><span role="columnheader">Hours</span></div>';

  test.each(['table', 'grid', 'treegrid'])('of the role %s becomes a table', (role) => {
    const document = parseDocument(
      `<body><div role="${role}"><div role="rowgroup">${head}</div><div role="rowgroup">${row('Brick', '9')}${row('Gas', '4')}</div></div>`,
    );
    applyRoles(document);
    expect(markdownOf(document)).toBe('| Kiln | Hours |\n| --- | --- |\n| Brick | 9 |\n| Gas | 4 |');
  });

  test.each([
    ['without cells', '<div role="table"><div role="row">Kiln</div></div>'],
    ['without rows', '<div role="grid"><span role="gridcell">Kiln</span></div>'],
    ['around another table', `<div role="table">${row('Kiln')}<table><tbody><tr><td>9</td></tr></tbody></table></div>`],
  ])('%s stays as it is', (_, html) => expect(named(html)).not.toMatch(/<table>.*<div|^<table/));
});
