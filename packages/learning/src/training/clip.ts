/** Shortening a gradient that is too long. */

/** The factor for a gradient of this squared length. */
export function clipScale(squaredNorm: number, clipNorm: number): number {
  const norm = Math.sqrt(squaredNorm);
  return norm > clipNorm ? clipNorm / norm : 1;
}
