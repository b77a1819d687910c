import { expect, it } from 'vitest';
import { isUnfollowable, trapKinds } from './traps.ts';

const url = (path: string) => new URL(path, 'https://a.example');

it('recognizes URLs that are never followed', () => {
  for (const path of [
    '/a.zip',
    '/b.JPG',
    '/style.css',
    '/a/b/a/b/a/b/a/b',
    `/${'x/'.repeat(21)}`,
    `/?${'a=1&'.repeat(13)}`,
  ])
    expect([path, isUnfollowable(url(path))]).toEqual([path, true]);
  for (const path of ['/', '/a.pdf', '/a.docx', '/a.html', '/a/b/a/b/c', '/2026/1/1/1/1/1', '/?a=1&b=2'])
    expect([path, isUnfollowable(url(path))]).toEqual([path, false]);
});

it('groups the URLs of a crawler trap into one kind', () => {
  const nameOf = (path: string) => trapKinds(url(path)).map(({ name }) => name);
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
  const limitOf = (path: string) => trapKinds(url(path))[0]!.limit;
  expect([limitOf('/l?a=1'), limitOf('/l?a=1&b=2'), limitOf('/l?a=1&b=2&c=3'), limitOf('/l?a=1&b=2&c=3&d=4')]).toEqual([
    2_000, 500, 200, 50,
  ]);
  expect(limitOf('/calendar/2026/11/21')).toBe(60);
});
