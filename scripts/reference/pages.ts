/** Pages and documents that the code says of itself, by their path. They are built, not committed. */
import { cliPage } from './cli.ts';
import { configurationPage } from './configuration.ts';
import { metricsPage } from './metrics.ts';
import { authorityDocument, serverDocument } from './openapi.ts';
import { refusalsPage } from './refusals.ts';

export const REFERENCE: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/cli.md': cliPage,
  'docs/reference/configuration.md': configurationPage,
  'docs/reference/metrics.md': metricsPage,
  'docs/reference/refusals.md': refusalsPage,
  'docs/openapi/authority.json': authorityDocument,
  'docs/openapi/server.json': serverDocument,
};
