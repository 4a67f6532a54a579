/** All routes of a server (docs/http.md). */
import { mountAbout } from './about.ts';
import { mountAdmissions } from './admissions.ts';
import type { RouteContext } from './context.ts';
import { mountEvents } from './events.ts';
import { mountModels } from './models.ts';
import { mountPageTokens } from './page-tokens.ts';
import { mountPages, type PageOptions } from './pages.ts';
import { mountUnsafePaper } from './paper.ts';
import { readersOf } from './readers.ts';
import { mountShots } from './shots.ts';
import { mountStatistics } from './statistics.ts';
import { mountTasks } from './tasks.ts';

export function mountRoutes(context: RouteContext): void {
  const readers = readersOf(context);
  mountAbout(context);
  mountTasks(context, readers);
  mountModels(context, readers);
  mountStatistics(context, readers);
  mountAdmissions(context);
  mountShots(context);
  mountUnsafePaper(context);
}

/** The routes for viewers, if the server is configured to show itself. */
export function mountShow(context: RouteContext, pages: PageOptions, authorityUrls: readonly string[]): void {
  mountEvents(context, readersOf(context));
  mountPages(context, pages, authorityUrls);
  if (pages.tokensFolder !== undefined) mountPageTokens(context, pages.tokensFolder);
}
