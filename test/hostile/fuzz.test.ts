/** The short version of `npm run lab -- trial hostile`. */

import { fuzzHttp } from '@basa/testkit/fuzz/services.ts';
import { expect, it } from 'vitest';

it('a request of any kind to any route is answered, never by a 500, and both services live on', async () => {
  const { failures, statuses } = await fuzzHttp(2000, 1);
  expect(failures).toEqual([]);
  // It got somewhere: some requests were served, and strangers as well as devices were refused.
  for (const status of ['200', '400', '401', '403', '404']) expect(Object.keys(statuses)).toContain(status);
});
