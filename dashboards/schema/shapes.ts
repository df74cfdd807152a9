// What of Grafana's types a dashboard of ours is held against. scripts/grafana_schema.py makes
// grafana.schema.json of it.
import type {Dashboard, Panel, RowPanel} from './node_modules/@grafana/schema/dist/types/veneer/dashboard.types';
import type * as stat from './node_modules/@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen';
import type * as statetimeline from './node_modules/@grafana/schema/dist/types/raw/composable/statetimeline/panelcfg/x/types.gen';
import type * as table from './node_modules/@grafana/schema/dist/types/raw/composable/table/panelcfg/x/types.gen';
import type * as text from './node_modules/@grafana/schema/dist/types/raw/composable/text/panelcfg/x/types.gen';
import type * as timeseries from './node_modules/@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen';

export interface Shapes {
  dashboard: Dashboard;
  panel: Panel;
  row: RowPanel;
  stat: {options: stat.Options};
  'state-timeline': {options: statetimeline.Options; custom: statetimeline.FieldConfig};
  table: {options: table.Options; custom: table.FieldConfig};
  text: {options: text.Options};
  timeseries: {options: timeseries.Options; custom: timeseries.FieldConfig};
}
