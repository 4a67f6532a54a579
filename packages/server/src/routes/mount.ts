/** All routes of a server (docs/http.md). */
import { mountAbout } from './about.ts';
import { mountAdmissions } from './admissions.ts';
import type { RouteContext } from './context.ts';
import { mountEvents } from './events.ts';
import { mountModels } from './models.ts';
import { mountPageTokens } from './page-tokens.ts';
import { mountPages, type PageOptions } from './pages.ts';
import { mountUnsafePaper } from './paper.ts';
import { mountShots } from './shots.ts';
import { mountTasks } from './tasks.ts';

export function mountRoutes(context: RouteContext): void {
  mountAbout(context);
  mountTasks(context);
  mountModels(context);
  mountAdmissions(context);
  mountShots(context);
  mountUnsafePaper(context);
}

/** The routes for viewers, if the server is configured to show itself. */
export function mountShow(context: RouteContext, pages: PageOptions, authorityUrls: readonly string[]): void {
  mountEvents(context, pages.needsLogin ?? false);
  mountPages(context, pages, authorityUrls);
  if (pages.tokensFolder !== undefined) mountPageTokens(context, pages.tokensFolder);
}
