export default {
  title: "总览",
};
