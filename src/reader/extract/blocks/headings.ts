/** The level of a heading, 1 to 6; 0 for other elements. */
export function headingLevel(name: string): number {
  const level = name.length === 2 && name[0] === 'h' ? name.charCodeAt(1) - 48 : 0;
  return level >= 1 && level <= 6 ? level : 0;
}
