/** Converts dates as feeds write them (RFC 822, ISO 8601 and similar) to ISO 8601. */
import { ownValue } from '#own-value.ts';

/** Offsets of time zone names that JavaScript does not support. */
const ZONES: Readonly<Record<string, string>> = {
  Z: '+0000',
  WET: '+0000',
  BST: '+0100',
  CET: '+0100',
  MET: '+0100',
  CEST: '+0200',
  MEST: '+0200',
  EET: '+0200',
  EEST: '+0300',
  MSK: '+0300',
  IST: '+0530',
  HKT: '+0800',
  SGT: '+0800',
  JST: '+0900',
  KST: '+0900',
  AEST: '+1000',
  AEDT: '+1100',
  NZST: '+1200',
  NZDT: '+1300',
};

/** Unknown parts of a date are omitted: `2024-05`. Text that is not a date is returned in one line. */
export function isoDate(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim().slice(0, 100);
  if (/^\d{4}(?:-\d\d(?:-\d\d)?)?$/.test(plain)) return plain;
  const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)? ?(Z|[+-]\d\d:?\d\d)?$/i.exec(plain);
  if (iso) return inUtc(`${iso[1]}T${iso[2]}${(iso[3] ?? 'Z').replace(/([+-]\d\d)(\d\d)/, '$1:$2')}`) ?? plain;
  const named = plain
    .replace(/^\p{L}{2,10}\.?,? /u, '')
    .replace(/ ([A-Z]{1,5})$/, (all, zone: string) => (ownValue(ZONES, zone) ? ` ${ownValue(ZONES, zone)}` : all));
  const hasZone = /(?:[+-]\d\d:?\d\d|[A-Z]{1,4})$/.test(named);
  return inUtc(hasZone ? named : `${named} UTC`) ?? inUtc(`${plain} UTC`) ?? plain;
}

function inUtc(text: string): string | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().replace('.000Z', 'Z');
}
