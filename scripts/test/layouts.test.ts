/** The layouts of the wire format are those of the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { describe, expect, it } from 'vitest';
import { LAYOUTS_PAGE, withLayouts } from '../reference/layouts.ts';

describe('the page on the wire format', () => {
  it('shows the layouts that the codecs have (`npm run write -- layouts` writes them)', () => {
    const page = readFileSync(join(ROOT, LAYOUTS_PAGE), 'utf8');
    expect(withLayouts(page)).toBe(page);
  });

  it('is not written if it has lost the marks around them', () => {
    expect(() => withLayouts('# Wire format')).toThrow('has lost its marks');
  });
});
