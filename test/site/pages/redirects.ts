/** Redirects of every kind, including endless ones. */
import type { Pages } from '../site.ts';

const to = (location: string, status = 302): Pages[string] => {
  return ({ response }) => void response.writeHead(status, { location }).end();
};

export const redirects: Pages = {
  '/moved': to('/moved/again', 301),
  '/moved/again': to('/article', 301),
  '/loop': to('/loop/back'),
  '/loop/back': to('/loop'),
  '/meta-refresh':
    '<!doctype html><title>Wait</title><meta http-equiv="refresh" content="0;url=/article"><p>Sending you on.',
  '/script-redirect':
    '<!doctype html><title>Wait</title><p>Sending you on.<script>location.replace("/article")</script>',
  '/meta-loop': '<!doctype html><title>Round</title><meta http-equiv="refresh" content="0"><p>Round and round.',
  '/script-loop':
    '<!doctype html><title>Round</title><p>Round and round.<script>location.href = "/script-loop?" + Math.random()</script>',
  '/to-nowhere':
    '<!doctype html><title>Off</title><p>Still here.<script>setTimeout(() => { location.href = "http://no-such-name.invalid/" }, 200)</script>',
  '/to-download':
    '<!doctype html><title>Off</title><p>Still here.<script>setTimeout(() => { location.href = "/download" }, 200)</script>',
  '/to': ({ response, url }) => void response.writeHead(302, { location: url.searchParams.get('where') ?? '/' }).end(),
};
