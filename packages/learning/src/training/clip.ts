/** Shortening a gradient that is too long. */

/** What a gradient of this squared length is multiplied with. */
export function clipScale(squaredNorm: number, clipNorm: number): number {
  const norm = Math.sqrt(squaredNorm);
  return norm > clipNorm ? clipNorm / norm : 1;
}
