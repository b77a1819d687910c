/**
 * The environment of every process that Lectern starts: enough to run, and nothing of the server's own. Its keys,
 * settings, proxies and home folder are no business of what reads strangers' files. Libraries that would report to their
 * makers are told not to: a child inherits no such switch from the server, so each stands here.
 */

/** Where programs, libraries, fonts and temporary files are, and the time zone. */
const INHERITED = [
  'PATH',
  'TMPDIR',
  'TEMP',
  'TMP',
  'TZ',
  'SystemRoot',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
] as const;

/** THE table: the switches that keep a library or a program from reporting what it does. */
export const TELEMETRY_OFF = {
  // onnxruntime 1.30 and later, which otherwise connects to Microsoft and writes a device id below the home folder.
  ORT_DISABLE_TELEMETRY: '1',
  // https://consoledonottrack.com
  DO_NOT_TRACK: '1',
} as const;

/** No folder, so that nothing can be made below it, not even by root. */
const NOWHERE = '/dev/null';

/** Of a language that pages and libraries know whatever the server's is: unset or `C`, it is none to most. */
const LANGUAGE = { LANG: 'en_US.UTF-8' } as const;

export interface ChildNeeds {
  /** A folder of the child's own, for programs that must write into their home. Without one they have none. */
  readonly home?: string | undefined;
  /** Further variables of the server that this program reads. */
  readonly inherits?: readonly string[];
  /** What holds for this program alone; it wins. */
  readonly more?: Readonly<Record<string, string>>;
}

export function childEnvironment({
  home = NOWHERE,
  inherits = [],
  more = {},
}: ChildNeeds = {}): Record<string, string> {
  const inherited = [...INHERITED, ...inherits].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), ...LANGUAGE, HOME: home, ...more, ...TELEMETRY_OFF };
}
