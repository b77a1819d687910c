import { McpServer } from '@modelcontextprotocol/server';
import { expect, it, onTestFinished } from 'vitest';
import { createRecentPageStore } from './recent.ts';
import { createSessions, type Session } from './sessions.ts';

const make = () => new McpServer({ name: 'test', version: '1' });
const authInfo = { token: '', clientId: '', scopes: [] };

function start() {
  const sessions = createSessions({ makeServer: make, makeRecent: createRecentPageStore().open });
  onTestFinished(() => sessions.close());
  return sessions;
}

/** Starts a request, which completes when the returned function is called. */
async function busy(session: Session): Promise<() => void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const request = new Request('http://localhost/mcp', { method: 'DELETE', headers: { 'mcp-session-id': 'x' } });
  await session.answer({ request, body: undefined, authInfo, ended, endResponse() {} });
  return end;
}

it('are found only by their owner', async () => {
  const sessions = start();
  const { id } = (await sessions.open({ owner: 'me', limitKey: 'me' }))!;
  expect(sessions.find(id, 'me')).toBeDefined();
  expect(sessions.find(id, 'you')).toBeUndefined();
  expect(sessions.find(id, undefined)).toBeUndefined();
  expect(sessions.find('another', 'me')).toBeUndefined();
});

it('are limited per caller: the least recently used idle session ends, busy ones stay', async () => {
  const sessions = start();
  const open = async () => (await sessions.open({ owner: undefined, limitKey: 'address' }))!;
  const first = await open();
  const others = [];
  for (let at = 1; at < 50; at++) others.push(await open());
  const stranger = (await sessions.open({ owner: 'you', limitKey: 'you' }))!;
  const end = await busy(first);
  await open();
  expect(sessions.find(first.id, undefined)).toBeDefined();
  expect(sessions.find(others[0]!.id, undefined)).toBeUndefined();
  expect(sessions.find(others[1]!.id, undefined)).toBeDefined();
  expect(sessions.find(stranger.id, 'you')).toBeDefined();
  end();
});

it('are refused while all sessions of the caller are busy', async () => {
  const sessions = start();
  const caller = { owner: 'me', limitKey: 'me' };
  const ends = [];
  for (let at = 0; at < 50; at++) ends.push(await busy((await sessions.open(caller))!));
  expect(await sessions.open(caller)).toBeUndefined();
  expect(await sessions.open({ owner: 'you', limitKey: 'you' })).toBeDefined();
  for (const end of ends) end();
  await Promise.resolve();
  expect(await sessions.open(caller)).toBeDefined();
});

it('are limited in total: the caller with the most sessions loses one', async () => {
  const sessions = start();
  const mine = (await sessions.open({ owner: 'me', limitKey: 'me' }))!;
  const theirs = [];
  for (let at = 0; at < 600; at++) {
    const limitKey = `address ${at % 15}`;
    theirs.push((await sessions.open({ owner: undefined, limitKey }))!);
  }
  expect(sessions.find(mine.id, 'me')).toBeDefined();
  expect(theirs.filter(({ id }) => sessions.find(id, undefined))).toHaveLength(499);
});
