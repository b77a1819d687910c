import { expect, it } from 'vitest';
import { findProgram, programPaths } from './find-program.ts';

it('finds programs on PATH and by their path', () => {
  expect(findProgram('no-such-program-here', 'sh')).toMatch(/^\/.*\/sh$/);
  expect(findProgram('/bin/sh')).toBe('/bin/sh');
  expect(findProgram('no-such-program-here')).toBeUndefined();
});

it('looks for programs as each system does', () => {
  expect(programPaths('ffmpeg', { platform: 'darwin', searchPath: '/usr/bin::/opt/homebrew/bin' })).toEqual([
    '/usr/bin/ffmpeg',
    '/opt/homebrew/bin/ffmpeg',
  ]);
  const windows = { platform: 'win32', searchPath: 'C:\\Windows;D:\\My Tools' } as const;
  expect(programPaths('ffmpeg', windows)).toEqual(['C:\\Windows\\ffmpeg.exe', 'D:\\My Tools\\ffmpeg.exe']);
  expect(programPaths('soffice.com', windows)).toEqual(['C:\\Windows\\soffice.com', 'D:\\My Tools\\soffice.com']);
  expect(programPaths('D:\\tools\\ffmpeg', windows)).toEqual(['D:\\tools\\ffmpeg.exe']);
});
