/** Numbers as people read them. */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

/** Three significant digits. */
export function digits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export function bytes(value: number): string {
  if (value < 1000) return `${Math.round(value)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** power;
  return `${scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)} ${units[power - 1]}`;
}

export function milliseconds(value: number): string {
  if (value < 10) return `${value.toFixed(1)} ms`;
  return value < 10_000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
}

export function seconds(value: number): string {
  if (value < 120) return `${Math.round(value)} s`;
  return value < 7200 ? `${Math.round(value / 6) / 10} min` : `${Math.round(value / 360) / 10} h`;
}

export function plural(many: number, one: string, more = `${one}s`): string {
  return `${count(many)} ${many === 1 ? one : more}`;
}

export function short(hex: string): string {
  return hex.slice(0, 8);
}

/** An event rarer than this is not a coincidence, even after many visits. */
const MIN_CHANCE = 1e-6;

/** True if bytes are as even as noise, by the chance that noise is at least as uneven. */
export function isEven(pValue: number): boolean {
  return pValue >= MIN_CHANCE;
}

/** That chance in words. */
export function chance(pValue: number): string {
  if (pValue > 2 / 3) return 'in almost every try';
  return isEven(pValue) ? `once in ${count(1 / pValue)} tries` : 'less than once in a million tries';
}
