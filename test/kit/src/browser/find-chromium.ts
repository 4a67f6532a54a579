/** Where a Chromium is: the variable CHROMIUM, or where systems put one. */
import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'], ...PLACES].find((path) => path !== undefined && existsSync(path));
}
