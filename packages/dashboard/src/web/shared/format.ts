/** Numbers as people read them. */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
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

export function short(hex: string): string {
  return hex.slice(0, 8);
}

/** The chance of a result as uneven as this, where everything is even. */
export function chance(pValue: number): string {
  if (Number.isNaN(pValue)) return 'too few bytes to say';
  return pValue < 1e-6 ? 'p < 0.000001' : `p = ${pValue < 0.01 ? pValue.toPrecision(2) : pValue.toFixed(2)}`;
}
