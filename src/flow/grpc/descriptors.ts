export const fileOfSymbol = (_symbol: string): Uint8Array[] | undefined => undefined;
export const fileNamed = (_name: string): Uint8Array[] | undefined => undefined;
