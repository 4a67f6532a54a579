/** docs/reference: pages that are written from code, by their file. */
import { cliPage } from './cli.ts';
import { configurationPage } from './configuration.ts';
import { httpPage } from './http.ts';
import { refusalsPage } from './refusals.ts';

export const REFERENCE_PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  'cli.md': cliPage,
  'configuration.md': configurationPage,
  'http.md': httpPage,
  'refusals.md': refusalsPage,
};
