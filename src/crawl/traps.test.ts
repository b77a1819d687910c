import { expect, it } from 'vitest';
import { isHopeless, kindsOf } from './traps.ts';

const url = (path: string) => new URL(path, 'https://a.example');

it('knows what nobody follows', () => {
  for (const path of [
    '/a.zip',
    '/b.JPG',
    '/style.css',
    '/a/b/a/b/a/b/a/b',
    `/${'x/'.repeat(21)}`,
    `/?${'a=1&'.repeat(13)}`,
  ])
    expect([path, isHopeless(url(path))]).toEqual([path, true]);
  for (const path of ['/', '/a.pdf', '/a.docx', '/a.html', '/a/b/a/b/c', '/2026/1/1/1/1/1', '/?a=1&b=2'])
    expect([path, isHopeless(url(path))]).toEqual([path, false]);
});

it('counts pages together that may have no end', () => {
  const nameOf = (path: string) => kindsOf(url(path)).map(({ name }) => name);
  for (const path of ['/article/123', '/questions/12345678', '/story/60210', '/story/202613', '/part/1234-56']) {
    expect([path, nameOf(path)]).toEqual([path, []]);
  }
  expect(nameOf('/day/20261121')).toEqual(nameOf('/day/2027-1-2'));
  expect(nameOf('/news/2026/11/a-title')).toEqual([]);
  expect(nameOf('/calendar/2026/11/21')).toEqual(nameOf('/calendar/1999/1/2'));
  expect(nameOf('/events/2026-11')).toEqual(nameOf('/events/2027-12'));
  expect(nameOf('/events?date=2026-11-21')[0]).toEqual(nameOf('/events?date=2027-12-01')[0]);
  expect(nameOf('/list?page=1')).toEqual(nameOf('/list?page=2'));
  expect(nameOf('/list?sort=a&page=1')).toEqual(nameOf('/list?page=9&sort=b'));
  expect(nameOf('/list?sort=a')[0]).not.toEqual(nameOf('/list?page=1')[0]);
  const most = (path: string) => kindsOf(url(path))[0]!.most;
  expect([most('/l?a=1'), most('/l?a=1&b=2'), most('/l?a=1&b=2&c=3'), most('/l?a=1&b=2&c=3&d=4')]).toEqual([
    2_000, 500, 200, 50,
  ]);
  expect(most('/calendar/2026/11/21')).toBe(60);
});
