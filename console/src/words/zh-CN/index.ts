import audit from "./audit";
import events from "./events";
import frame from "./frame";
import health from "./health";
import instances from "./instances";
import jobs from "./jobs";
import letters from "./letters";
import login from "./login";
import overview from "./overview";
import rolling from "./rolling";
import sources from "./sources";
import states from "./states";
import tasks from "./tasks";
import tenants from "./tenants";
import trouble from "./trouble";

export default {
  audit,
  events,
  frame,
  health,
  instances,
  jobs,
  letters,
  login,
  overview,
  rolling,
  sources,
  states,
  tasks,
  tenants,
  trouble,
};
