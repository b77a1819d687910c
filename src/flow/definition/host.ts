/** Splits host names with a port and scheme. */

export interface SplitHost {
  readonly host: string;
  readonly port?: number;
}

/** Splits `host:port` and `grpc://host:port`. */
export function splitHost(host: string): SplitHost {
  const bare = host.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, '');
  const port = /:(\d{1,5})$/.exec(bare);
  if (!port || (bare.includes(':', bare.indexOf(':') + 1) && !bare.includes(']'))) return { host: bare };
  return { host: bare.slice(0, port.index), port: Number(port[1]) };
}
