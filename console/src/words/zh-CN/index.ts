import audit from "./audit";
import frame from "./frame";
import health from "./health";
import instances from "./instances";
import jobs from "./jobs";
import letters from "./letters";
import login from "./login";
import overview from "./overview";
import sources from "./sources";
import states from "./states";
import tasks from "./tasks";
import tenants from "./tenants";
import trouble from "./trouble";

export default {
  audit,
  frame,
  health,
  instances,
  jobs,
  letters,
  login,
  overview,
  sources,
  states,
  tasks,
  tenants,
  trouble,
};
