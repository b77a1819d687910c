/**
 * The environment of child processes. They parse untrusted files, so they do not receive the server's keys, settings,
 * proxies or home directory. A child process does not inherit the variables that disable the telemetry of libraries, so
 * they are set here again.
 */

/** Variables for the paths of programs, libraries, fonts and temporary files, and for the time zone. */
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

/** All variables that disable the telemetry of libraries and programs. */
export const TELEMETRY_OFF = {
  // onnxruntime 1.30 and later connects to Microsoft and stores a device id in the home directory.
  ORT_DISABLE_TELEMETRY: '1',
  // https://consoledonottrack.com
  DO_NOT_TRACK: '1',
} as const;

/** A path that is not a directory, so that not even root can create anything below it. */
const NOWHERE = process.platform === 'win32' ? '\\\\.\\NUL' : '/dev/null';

/**
 * A common locale that does not depend on the server's. Many libraries treat an unset or `C` locale as having no
 * language.
 */
const LANGUAGE = { LANG: 'en_US.UTF-8' } as const;

export interface ChildEnvironmentOptions {
  /** Home directory, for programs that must write there. Default: none. */
  readonly home?: string | undefined;
  /** Additional variables to inherit from the server. */
  readonly inherits?: readonly string[];
  /** Additional variables with their values; they override the others. */
  readonly more?: Readonly<Record<string, string>>;
}

export function childEnvironment({
  home = NOWHERE,
  inherits = [],
  more = {},
}: ChildEnvironmentOptions = {}): Record<string, string> {
  const inherited = [...INHERITED, ...inherits].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), ...LANGUAGE, HOME: home, ...more, ...TELEMETRY_OFF };
}

/**
 * The environment of programs that work for the operator and never on pages, such as npm, which needs the operator's
 * registry, proxies and certificates: everything except Lectern's settings.
 */
export function operatorEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('LECTERN_'));
  return { ...Object.fromEntries(inherited), ...more, ...TELEMETRY_OFF };
}
