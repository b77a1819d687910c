/** Formats a stream event as text, for examples. */
export const exampleEvent = (event: string, data: unknown): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
